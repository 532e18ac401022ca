"""What is the same for every mechanism of this probe: plan, messages, clock, calibration, batch loop, evidence."""
