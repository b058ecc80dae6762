/* SPDX-License-Identifier: MIT
 *
 * Whose numbers the thunk shows, on the emulated machine gfx1100: thunk_test provider|public.
 */
#include "check.h"

static void check_node(int from_provider)
{
    HsaNodeProperties node;
    char name[65] = "";
    CHECK_EQ(hsaKmtGetNodeProperties(1, &node), OK);
    for (int i = 0; i < 64; i++)
        name[i] = (char)node.MarketingName[i];
    CHECK(!strcmp(name, from_provider ? "WKMI stand-in" : "AMD Radeon RX 7900 XTX"));
    CHECK_EQ(node.EngineId.ui32.Minor, from_provider ? 3 : 0);
    CHECK_EQ(node.EngineId.ui32.Stepping, from_provider ? 7 : 0);
    CHECK_EQ(node.NumFComputeCores, from_provider ? 44 * 4 : 96 * 2);
    CHECK_EQ(node.WaveFrontSize, from_provider ? 64 : 32);
    CHECK_EQ(node.LocationId, from_provider ? 0x508 : 0x300);
    CHECK_EQ(node.DeviceId, 0x744c);
}

int main(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    /* The last close unloads the provider, the next open loads it again. */
    for (int i = 0; i < 3; i++) {
        HsaSystemProperties system;
        CHECK_EQ(hsaKmtOpenKFD(), OK);
        CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
        CHECK_EQ(system.NumNodes, 2);
        check_node(!strcmp(argv[1], "provider"));
        CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
        CHECK_EQ(hsaKmtCloseKFD(), OK);
        CHECK_EQ(live_objects(), 0);
        CHECK_EQ(violations(), 0);
    }
    return 0;
}
