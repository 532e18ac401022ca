// The smallest scheduler of sched_ext (Documentation/scheduler/sched-ext.rst).
#pragma once

// Makes it the scheduler of all ordinary tasks until this process ends. Null, or what was refused.
const char* start_sched_ext(void);
