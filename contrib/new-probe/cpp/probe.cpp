// Measures stack/@name@. Put your library's calls into the three functions; the kit does the rest.
#include <ucontext.h>

#include "kit/own.h"

namespace {

using probe::Stack;
using probe::StackEntry;

struct Library {
    // What your library keeps of a suspended context.
    struct Context {
        ucontext_t saved;
        StackEntry begin;
        void* argument;
    };

    // Makes a context on this stack. When it is first switched to, it calls begin(argument, token).
    static void make(Context& context, Stack stack, StackEntry begin, void* argument) {
        getcontext(&context.saved);
        context.saved.uc_stack.ss_sp = stack.bottom;
        context.saved.uc_stack.ss_size = stack.size();
        context.saved.uc_link = nullptr;
        context.begin = begin;
        context.argument = argument;
        makecontext(&context.saved, start, 0);
    }

    // Suspends `own` and continues `next` with the token. Returns once `own` is continued, with the token it then gets.
    static std::uint64_t switch_to(Context& own, Context& next, std::uint64_t token) {
        word = token;  // swapcontext passes nothing
        starting = &next;
        swapcontext(&own.saved, &next.saved);
        return word;
    }

    // Frees what `make` took. The context is suspended and will not be continued.
    static void destroy(Context&) {}

    static void start() { starting->begin(starting->argument, word); }
    static inline std::uint64_t word = 0;
    static inline Context* starting = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    return probe::own_probe<Library>({"@name@", "1", __VERSION__, FLAGS}, "stack/@name@", argc, argv);
}
