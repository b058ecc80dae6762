#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

// hip: what HIP says of each GPU, and that memory of several sizes can be had and given back: device memory with what
// hipMemGetInfo counts, host memory by writing and reading it. No stream is made: that takes a GPU that runs packets.

static void check(hipError_t status, const char *what)
{
    if (status == hipSuccess)
        return;
    std::printf("%s: %s\n", what, hipGetErrorString(status));
    std::exit(1);
}
#define CHECK(call) check((call), #call)

int main()
{
    int count = 0;
    CHECK(hipGetDeviceCount(&count));
    std::printf("devices %d\n", count);
    for (int device = 0; device < count; device++) {
        CHECK(hipSetDevice(device));
        hipDeviceProp_t has;
        CHECK(hipGetDeviceProperties(&has, device));
        std::printf("device %d\n name %s\n gcnArchName %s\n multiProcessorCount %d\n totalGlobalMem %zu\n"
                    " warpSize %d\n pciBusID %d\n clockRate %d\n memoryBusWidth %d\n l2CacheSize %d\n"
                    " sharedMemPerBlock %zu\n",
                    device, has.name, has.gcnArchName, has.multiProcessorCount, has.totalGlobalMem, has.warpSize,
                    has.pciBusID, has.clockRate, has.memoryBusWidth, has.l2CacheSize, has.sharedMemPerBlock);
        std::size_t free_before, total, free_after;
        CHECK(hipMemGetInfo(&free_before, &total));
        std::printf(" hipMemGetInfo total %zu\n", total);
        for (std::size_t bytes : {std::size_t{4096}, std::size_t{100000}, std::size_t{64} << 20, std::size_t{1} << 30}) {
            void *memory = nullptr;
            CHECK(hipMalloc(&memory, bytes));
            std::size_t during;
            CHECK(hipMemGetInfo(&during, &total));
            std::printf(" hipMalloc %zu %s, %s\n", bytes, memory ? "given" : "NULL",
                        free_before - during >= bytes ? "counted" : "not counted");
            CHECK(hipFree(memory));
        }
        CHECK(hipMemGetInfo(&free_after, &total));
        std::printf(" hipFree %s\n", free_after == free_before ? "gave everything back" : "left something");
        for (std::size_t bytes : {std::size_t{4096}, std::size_t{8} << 20}) {
            unsigned char *memory = nullptr;
            CHECK(hipHostMalloc(reinterpret_cast<void **>(&memory), bytes, 0));
            std::memset(memory, 0x5a, bytes);
            std::printf(" hipHostMalloc %zu %s\n", bytes, memory[bytes - 1] == 0x5a ? "holds what is written" : "does not");
            CHECK(hipHostFree(memory));
        }
        std::fflush(stdout);
    }
    return 0;
}
