#include "kit/plan/report.h"

#include <cerrno>

#include "kit/os/os.h"

namespace probe {

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

std::string number_list(const std::vector<int>& numbers) {
    std::string result = "[";
    for (const int number : numbers) {
        if (result.size() > 1) result += ',';
        result += std::to_string(number);
    }
    return result + "]";
}

std::string text_list(const std::vector<const char*>& texts) {
    std::string result = "[";
    for (const char* text : texts) {
        if (result.size() > 1) result += ',';
        result += quoted(text);
    }
    return result + "]";
}

void Line::name(std::string_view name) {
    if (body_.size() > 1) body_ += ',';
    body_ += quoted(name) + ":";
}

Line& Line::text(std::string_view name_, std::string_view value) {
    name(name_);
    body_ += quoted(value);
    return *this;
}

Line& Line::number(std::string_view name_, std::int64_t value) {
    name(name_);
    body_ += std::to_string(value);
    return *this;
}

Line& Line::truth(std::string_view name_, bool value) {
    name(name_);
    body_ += value ? "true" : "false";
    return *this;
}

Line& Line::null(std::string_view name_) {
    name(name_);
    body_ += "null";
    return *this;
}

Line& Line::raw(std::string_view name_, std::string_view json) {
    name(name_);
    body_ += json;
    return *this;
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
