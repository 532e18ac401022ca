// The folder below TMPDIR in which a runtime finds its bundles and keeps its state. Others may also write to TMPDIR
// (/tmp): its name is unpredictable and nobody else may enter it. What is in it is reached from its descriptor, and
// what is made in it must not be there yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kit/tasks/guardian.h"

namespace probe {

class TemporaryFolder final : public GuardedResource {
public:
    TemporaryFolder();  // finds TMPDIR and sweeps in it what dead probes left; throws Failure

    // Has the guardian make it. `group_places`: directories of control groups in which the runtime makes NAME-NUMBER by
    // itself. Throws Failure.
    void begin(Guardian& guardian, std::vector<std::string> group_places = {});

    const std::string& name() const { return name_; }
    std::string path(const std::string& below) const { return parent_ + "/" + name_ + "/" + below; }

    // A root file system `root` of one static program, which is installed beside this one, as /inside. Throws Failure.
    void make_root(const char* program) const;
    void make_directory(const std::string& below) const;                       // throws Failure
    void make_file(const std::string& below, std::string_view content) const;  // throws Failure
    int open_again(const std::string& below) const;       // for writing, emptied; -1: errno says why
    std::string text_of(const std::string& below) const;  // empty where it cannot be read

    // A descriptor for the processes of a runtime, which outlive a launcher that is killed: while one of them has it,
    // the folder stays. -1: errno says why.
    int hold() const;

    ResourceId make() override;
    int open(const ResourceId& id) override;
    void remove() override;

private:
    Descriptor make_lock() const;
    Descriptor create(const std::string& below) const;  // for writing; closed: errno says why
    [[noreturn]] void throw_refusal(const std::string& path, int error) const;

    std::string parent_;
    std::string name_;
    std::vector<std::string> group_places_;
    Descriptor directory_;
    Descriptor lock_;
};

}  // namespace probe
