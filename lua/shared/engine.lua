-- The end of engine(): what acquire and release need of the parts inside. Making the functions costs
-- as much as a whole uncontended acquire, so those two make them only when somebody waits.
return {
  MAX_CALLS = MAX_CALLS, admit = admit, call_of = call_of, claim = claim, fail = fail,
  forget_over = forget_over, grant = grant, grow_no_more = grow_no_more, measure = measure,
  place = place, reweigh = reweigh, stand = stand, sweep = sweep, sweep_in = sweep_in,
  take_turn = take_turn, wait_from = wait_from,
}
