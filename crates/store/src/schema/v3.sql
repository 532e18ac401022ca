-- What the host saw of an invocation by itself, as JSON; NULL where it did not look.
ALTER TABLE invocation ADD COLUMN seen TEXT;
