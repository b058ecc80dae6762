/* The lifecycle of one process, one user (dxg.md 1.9). */
#include "check.h"

int main(void)
{
    HsaSystemProperties system;
    HsaNodeProperties node;
    HsaVersionInfo version;

    /* Nothing works before an open but the size check. */
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), CLOSED);
    CHECK_EQ(acquire(), CLOSED);
    CHECK_EQ(hsaKmtGetVersion(&version), CLOSED);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), CLOSED);
    CHECK_EQ(hsaKmtCheckRuntimeDebugSupport(), CLOSED);
    HsaStructureSizes sizes = { .StructureSizes = sizeof sizes };
    CHECK_EQ(DxgAbiCheck(&sizes), OK);

    /* Opens are counted; 22 is a reference too. */
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(hsaKmtOpenKFD(), AGAIN);
    CHECK_EQ(hsaKmtOpenKFD(), AGAIN);
    CHECK_EQ(hsaKmtGetVersion(&version), OK);
    CHECK_EQ(version.KernelInterfaceMajorVersion, 1);
    CHECK_EQ(version.KernelInterfaceMinorVersion, 17);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(hsaKmtCloseKFD(), OK);

    /* So are snapshots. */
    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), NO_NODE);
    CHECK_EQ(hsaKmtAcquireSystemProperties(&system), OK);
    uint64_t calls = kernel_calls();
    CHECK_EQ(acquire(), OK);
    CHECK_EQ(kernel_calls(), calls);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), OK);
    CHECK_EQ(live_objects() > 0, system.NumNodes > 1);

    /* The debugger question takes no reference on the snapshot. */
    CHECK_EQ(hsaKmtCheckRuntimeDebugSupport(), HSAKMT_STATUS_NOT_SUPPORTED);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), OK);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), NO_NODE);
    CHECK_EQ(hsaKmtCheckRuntimeDebugSupport(), HSAKMT_STATUS_NOT_SUPPORTED);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);

    /* The last close drops a snapshot that somebody forgot; a new open does not find it. */
    CHECK_EQ(acquire(), OK);
    CHECK_EQ(hsaKmtCloseKFD(), OK);
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(hsaKmtCloseKFD(), CLOSED);
    CHECK_EQ(hsaKmtOpenKFD(), OK);
    CHECK_EQ(hsaKmtReleaseSystemProperties(), BAD);
    CHECK_EQ(hsaKmtGetNodeProperties(0, &node), NO_NODE);
    CHECK_EQ(hsaKmtCloseKFD(), OK);

    round_trip();
    CHECK_EQ(live_objects(), 0);
    CHECK_EQ(violations(), 0);
    return 0;
}
