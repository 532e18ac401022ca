// A zeroed array that forked processes share with the driver. Bounded by memory, not by the heap's habits: pages come
// when touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace probe {

// Who gets the token after `context`.
template <class Count>
constexpr std::uint32_t next_in_ring(std::uint32_t context, Count contexts) {
    return context + 1 == contexts ? 0 : context + 1;
}

// Throws Failure limit_reached, naming the limit.
void* map_zeroed(std::size_t bytes, bool shared);
void unmap(void* address, std::size_t bytes);

template <class T>
class SharedArray {
public:
    explicit SharedArray(std::size_t size) : size_(size) {
        if (size_ != 0)
            data_ = ::new (map_zeroed(size_ * sizeof(T), true))
                T;  // the other elements are zero, which is valid for every T used
    }
    SharedArray(const SharedArray&) = delete;
    SharedArray& operator=(const SharedArray&) = delete;
    ~SharedArray() {
        if (size_ != 0) unmap(data_, size_ * sizeof(T));
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return data_[index]; }

private:
    std::size_t size_;
    T* data_ = nullptr;
};

}  // namespace probe
