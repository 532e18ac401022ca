// JSON Lines to the host: integers and ASCII text only, so that no number is formatted by floating-point code.
#pragma once

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
    Line& number(std::string_view name, std::int64_t value);
    Line& truth(std::string_view name, bool value);
    Line& null(std::string_view name);
    Line& raw(std::string_view name, std::string_view json);  // an object or array built by the caller

    std::string finish() const { return body_ + "}"; }
    std::string finish_line() const { return body_ + "}\n"; }

    // An object inside another message has no `t`.
    static Line nested() { return Line(); }

private:
    Line() = default;
    void name(std::string_view name);
    std::string body_ = "{";
};

std::string quoted(std::string_view text);
std::string number_list(const std::vector<int>& numbers);
std::string text_list(const std::vector<const char*>& texts);

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
