// Why a plan was not carried out: the fields of an `end` message that is not `ok`. Thrown outside the measured region
// only.
#pragma once

#include <string>
#include <utility>

namespace probe {

struct Failure {
    const char* status;  // "unsupported", "refused" or "failed"
    const char* code;    // one of PROTOCOL.md, section 2, `end`
    std::string detail;  // one sentence: reason and cure
    int error = 0;       // errno, 0 for none
};

inline Failure refused(const char* code, std::string detail) { return {"refused", code, std::move(detail), 0}; }
inline Failure unsupported(const char* code, std::string detail, int error = 0) {
    return {"unsupported", code, std::move(detail), error};
}
inline Failure failed(const char* code, std::string detail, int error = 0) {
    return {"failed", code, std::move(detail), error};
}

}  // namespace probe
