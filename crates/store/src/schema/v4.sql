-- What was asked, as data: a sweep is gone on with by it.
ALTER TABLE run ADD COLUMN request TEXT;
