-- How fast the machine was beside each batch: name of a ruler -> list of clock ticks, as JSON; NULL: the probe has none.
ALTER TABLE samples ADD COLUMN rulers TEXT;
