#include "core/model/gpu_share.h"

#include "support/objects.h"
#include "support/test.h"

TEST(gpu_share, is_read_in_all_its_spellings)
{
    static const struct {
        const char *pod;
        uint32_t whole, count, milli, mib;
    } cases[] = {
        {"cpu=1", 0, 0, 0, 0},
        {"note:gpu-fraction=0.5", 0, 1, 500, 0},
        {"note:scheduling.kubenexus.io/gpu-fraction=0.25", 0, 1, 250, 0},
        {"note:gpu-fraction=0.5 note:gpu-fraction-num-devices=2", 0, 2, 500, 0},
        {"note:gpu-memory=2000", 0, 1, 0, 2000},
        {"note:gpu-memory=20Gi", 0, 1, 0, 20480},
        {"note:scheduling.kubenexus.io/gpu-memory=20Gi", 0, 1, 0, 20480},
        {"note:scheduling.kubenexus.io/gpu-memory=1048577", 0, 1, 0, 2},
        {"note:gpu-memory=2000 note:gpu-fraction=0.3", 0, 1, 300, 2000},
        {"nvidia.com/gpumem=3000", 1, 1, 0, 3000},
        {"nvidia.com/gpumem=3000 nvidia.com/gpucores=30", 2, 2, 300, 3000},
        {"nvidia.com/gpumem-percentage=50", 1, 1, 500, 0},
        {"nvidia.com/gpumem-percentage=20 nvidia.com/gpucores=50", 1, 1, 500, 0},
        {"nvidia.com/gpumem=3000", 0, 1, 0, 3000},
        {"volcano.sh/vgpu-number=2 volcano.sh/vgpu-memory=1024", 0, 2, 0, 1024},
        {"volcano.sh/vgpu-number=1 volcano.sh/vgpu-cores=40", 0, 1, 400, 0},
        {"volcano.sh/vgpu-number=1 volcano.sh/vgpu-memory-percentage=40", 0, 1, 400, 0},
        {"volcano.sh/vgpu-number=2", 0, 2, 1000, 0},
        {"volcano.sh/gpu-memory=1024", 0, 1, 0, 1024},
        {"volcano.sh/gpu-number=3", 0, 3, 1000, 0},
        {"nvidia.com/gpucores=0", 1, 0, 0, 0},
        {"nvidia.com/gpucores=500", 1, 1, 1000, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) line = {0};
        test_case("%s", cases[i].pod);
        buf_printf(&line, "pod p %s%c", cases[i].pod, 0);
        struct object o = object_of(&mem, line.p);
        struct gpu_share share = gpu_share_read(o.pod, cases[i].whole, &mem);
        EXPECT_STR(share.error, "");
        EXPECT_INT(share.count, cases[i].count);
        EXPECT_INT(share.milli, cases[i].milli);
        EXPECT_INT(share.mib, cases[i].mib);
    }
}

TEST(gpu_share, what_makes_no_sense_is_said)
{
    static const struct {
        const char *pod;
        uint32_t whole;
        const char *error;
    } cases[] = {
        {"note:gpu-fraction=1", 0,
         "annotation gpu-fraction: \"1\" is not a number above 0 and below 1"},
        {"note:gpu-memory=much", 0, "annotation gpu-memory: \"much\" is not an amount of memory"},
        {"note:gpu-memory=0", 0, "annotation gpu-memory: \"0\" is not an amount of memory"},
        {"note:gpu-memory=-5", 0, "annotation gpu-memory: \"-5\" is not an amount of memory"},
        {"note:gpu-memory=5", 1,
         "annotation gpu-memory: \"5\" stands beside a request for whole GPUs"},
        {"note:gpu-memory=5 note:gpu-fraction-num-devices=none", 0,
         "annotation gpu-fraction-num-devices: \"none\" is not a number of GPUs"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) line = {0};
        test_case("%s", cases[i].pod);
        buf_printf(&line, "pod p %s%c", cases[i].pod, 0);
        struct object o = object_of(&mem, line.p);
        struct gpu_share share = gpu_share_read(o.pod, cases[i].whole, &mem);
        EXPECT_STR(share.error, cases[i].error);
        EXPECT_INT(share.count, 0);
    }
}
