// A program that makes one call of one kernel, for targets whose code this machine can only emulate.
//
// Standard input holds the call in this target's own byte order (kernels/toolchains/cxx/emulated.py writes it), and
// standard output gets all memory back: not only the results, so that whoever asked sees what else was written.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace {

[[noreturn]] void fail(const std::string &why) {
    fprintf(stderr, "%s\n", why.c_str());
    exit(EXIT_FAILURE);
}

void read_fully(void *data, size_t size) {
    if (fread(data, 1, size, stdin) != size) fail("the request ends early");
}

void write_fully(const void *data, size_t size) {
    if (fwrite(data, 1, size, stdout) != size) fail("the reply could not be written");
}

// The words of a request, one after another.
class Words {
   public:
    Words() {
        int64_t count;
        read_fully(&count, sizeof count);
        words_.resize(static_cast<size_t>(count));
        read_fully(words_.data(), words_.size() * sizeof(int64_t));
    }

    int64_t next() { return *take(1); }

    const int64_t *take(int64_t count) {
        const int64_t *first = words_.data() + place_;
        place_ += static_cast<size_t>(count);
        if (place_ > words_.size()) fail("the request has too few words");
        return first;
    }

   private:
    std::vector<int64_t> words_;
    size_t place_ = 0;
};

// Memory between two pages that nobody may touch, at an address that is aligned as the caller's is.
struct Storage {
    char *data;
    size_t size;

    Storage(size_t size, size_t residue) : size(size) {
        const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t inside = (residue % page + size + page - 1) / page * page;
        void *mapped = mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) fail("there is not enough memory");
        char *first = static_cast<char *>(mapped) + page;
        if (inside && mprotect(first, inside, PROT_READ | PROT_WRITE)) fail("memory could not be made writable");
        data = first + residue % page;
        read_fully(data, size);
    }
};

Function *function_called(const std::string &name) {
    for (const Entry *entry = Entry::first; entry; entry = entry->next)
        if (name == entry->name) return entry->function;
    fail("there is no kernel " + name);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) fail("usage: <program> <kernel>, a request on standard input");
    Function *function = function_called(argv[1]);
    Words words;
    std::vector<Storage> storages;
    const int64_t storage_count = words.next();
    for (int64_t i = 0; i < storage_count; ++i) {
        const int64_t size = words.next();
        storages.emplace_back(static_cast<size_t>(size), static_cast<size_t>(words.next()));
    }
    std::vector<Tensor> tensors(static_cast<size_t>(words.next()));
    for (Tensor &tensor : tensors) {
        const Storage &storage = storages[static_cast<size_t>(words.next())];
        tensor.data = storage.data + words.next();
        tensor.dtype = static_cast<DType>(words.next());
        tensor.rank = words.next();
        tensor.sizes = words.take(tensor.rank);
        tensor.strides = words.take(tensor.rank);
    }
    const int64_t *integers = words.take(words.next());
    std::vector<double> reals(static_cast<size_t>(words.next()));
    for (double &real : reals) real = bits_as<double>(words.next());
    if (const char *trouble = function(Call{tensors.data(), integers, reals.data(), nullptr})) fail(trouble);
    for (const Storage &storage : storages) write_fully(storage.data, storage.size);
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
