// MXCSR is equal in both contexts: no floating-point arithmetic is done anywhere.
#include <boost/context/detail/fcontext.hpp>

#include "plain.h"

using namespace boost::context::detail;
alignas(64) static char stack[16384];

static void live(transfer_t t) {
    for (;;) t = jump_fcontext(t.fctx, nullptr);
}

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    fcontext_t partner = make_fcontext(stack + sizeof stack - 1024, sizeof stack - 1024, &live);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) partner = jump_fcontext(partner, nullptr).fctx;
        plain_print(plain_now() - begin, a.switches);
    }
}
