// Mechanisms whose tasks are connected by a Link (kit/ring/links.h): a ring of them, or messages.
#pragma once

#include "kit/experiments/list.h"
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/parameters/speculation.h"
#include "kit/ring/process_links.h"
#include "kit/tasks/tasks.h"

namespace probe {

template <class Link>
struct LinkedThreads {
    template <Mode mode>
    using Switches = ThreadRing<mode, LinkMedium<Link>>;
    template <Mode mode>
    using Messages = Message<mode, Link, PartnerIs::thread>;
};

template <class Link>
struct LinkedProcesses {
    template <Mode mode>
    using Switches = ProcessRing<mode, ProcessLinkMedium<Link>>;
    template <Mode mode>
    using Messages = Message<mode, Link, PartnerIs::process>;
};

template <class Linked>
std::unique_ptr<Workload> make_linked(const Plan& plan, Mode mode) {
    return plan.asked->ring ? make_ring_for_mode<Linked::template Switches>(plan, mode)
                            : make_for_mode<Linked::template Messages>(plan, mode);
}

inline Entry linked_processes(const char* id, std::unique_ptr<Workload> (*make)(const Plan&, Mode)) {
    return {id,
            Shape::tasks,
            of_links,
            {payload_parameter(), sched_parameter(), speculation_parameter(), working_set_parameter()},
            make};
}

}  // namespace probe
