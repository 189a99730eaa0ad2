-- The end of explanation(), which makes what an acquire needs to say why it is not granted, where it
-- is asked to.
return waiting_json
