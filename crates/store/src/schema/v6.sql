-- Damage is noticed: checksums as seal.rs makes them, NULL in runs that were begun before they were.
ALTER TABLE run ADD COLUMN invocations INTEGER; -- how many there were at its end; NULL while it goes on
ALTER TABLE run ADD COLUMN checksum BLOB;       -- of this row and of its variants
ALTER TABLE invocation ADD COLUMN checksum BLOB; -- of this row, of the probe's introduction and of the samples
