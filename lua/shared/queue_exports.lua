-- The end of the function that makes the functions of the queue: what acquire, release, down and up call.
-- Making them costs as much as an uncontended acquire, so it happens only where a call waits, and once.
return {
  MAX_CALLS = MAX_CALLS, admit = admit, assign_score = assign_score, call_of = call_of,
  change_cost = change_cost, claim = claim, drop_expired_calls = drop_expired_calls, fail = fail,
  grant = grant, start_measuring = start_measuring,
  stop_growing = stop_growing, sweep = sweep, sweep_in = sweep_in, take_turn = take_turn,
  wait_from = wait_from, write_wait = write_wait,
}
