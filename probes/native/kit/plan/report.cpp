#include "kit/plan/report.h"

#include <cerrno>

#include "kit/os/os.h"

namespace probe {
namespace {

std::string quoted(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte > 0x7e) {
            // The messages are ASCII. A byte that is none is shown as the code point of the same number.
            result += "\\u00";
            result += digits[byte >> 4];
            result += digits[byte & 15];
        } else {
            result += c;
        }
    }
    return result + '"';
}

}  // namespace

std::string text_list(const std::vector<const char*>& texts) { return list_of(texts, quoted); }

Line& Line::text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }

Line& Line::raw(std::string_view name, std::string_view json) {
    if (body_.size() > 1) body_ += ',';
    body_.append(quoted(name)).append(":").append(json);
    return *this;
}

Line end_ok(std::uint64_t samples) {
    Line line("end");
    line.text("status", "ok").number("samples", samples);
    return line;
}

void Reporter::flush() {
    const char* data = pending_.data();
    std::size_t left = pending_.size();
    while (left != 0) {
        const long sent = os::write_some(fd_, data, left);
        if (sent == -1 && errno == EINTR) continue;
        if (sent <= 0) break;  // the host has gone; there is nobody to tell
        data += sent;
        left -= static_cast<std::size_t>(sent);
    }
    pending_.clear();
}

}  // namespace probe
