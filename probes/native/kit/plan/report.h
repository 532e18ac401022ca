// JSON Lines to the host: integers and ASCII text only, so that no number is formatted by floating-point code.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// One JSON object under construction.
class Line {
public:
    explicit Line(std::string_view type) { text("t", type); }

    Line& text(std::string_view name, std::string_view value);
    Line& number(std::string_view name, std::integral auto value) {
        return raw(name, std::to_string(static_cast<std::int64_t>(value)));
    }
    Line& truth(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
    Line& null(std::string_view name) { return raw(name, "null"); }
    Line& raw(std::string_view name, std::string_view json);  // an object or array built by the caller

    std::string finish() const { return body_ + "}"; }
    std::string finish_line() const { return body_ + "}\n"; }

    // An object inside another message has no `t`.
    static Line nested() { return Line(); }

private:
    Line() = default;
    std::string body_ = "{";
};

std::string text_list(const std::vector<const char*>& texts);

// An array of what `text_of` makes of each item.
template <class Items, class TextOf>
std::string list_of(const Items& items, TextOf text_of) {
    std::string result = "[";
    for (const auto& item : items) {
        if (result.size() > 1) result += ',';
        result += text_of(item);
    }
    return result + "]";
}

template <class Numbers>
std::string number_list(const Numbers& numbers) {
    return list_of(numbers, [](auto number) { return std::to_string(number); });
}

// The last message of a plan that was carried out.
Line end_ok(std::uint64_t samples);

// Collects lines and sends them with few write() calls, none of them during the silence.
class Reporter {
public:
    explicit Reporter(int fd) : fd_(fd) {}
    void add(const Line& line) { pending_ += line.finish_line(); }
    void flush();
    int fd() const { return fd_; }

private:
    int fd_;
    std::string pending_;
};

}  // namespace probe
