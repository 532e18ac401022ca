// executor/asio: tasks are posted to an io_context of Boost.Asio, which the workers run.
#include "kit/experiments/submit.h"

#if __has_include(<boost/asio/io_context.hpp>)
// Boost before 1.76 asks for std::result_of.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#define PROBE_HAS_ASIO 1
#endif

namespace probe {
namespace {

#ifdef PROBE_HAS_ASIO
class Asio {
public:
    // A hint of 1 lets Asio leave locks out; it is what its authors advise for one thread.
    explicit Asio(std::uint32_t workers) : context_(static_cast<int>(workers)), guard_(context_.get_executor()) {}

    void work() { context_.run(); }
    void post(Task& task) {
        boost::asio::post(context_, [&task] { task.run(); });
    }
    void stop() { guard_.reset(); }

private:
    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Submit<Asio>>(plan); }
constexpr std::optional<Unavailable> (*check)() = nullptr;
#else
std::unique_ptr<Workload> make(const Plan&, Mode) { return nullptr; }
std::optional<Unavailable> check() {
    return Unavailable{"missing_library", "Boost.Asio was not found when this probe was built",
                       "Boost (Debian: libboost-dev; Fedora: boost-devel), then build the probe again"};
}
#endif

}  // namespace

extern const Entry executor_asio{"executor/asio", Shape::tasks, {"submit"}, submit_parameters(), &make, check};

}  // namespace probe
