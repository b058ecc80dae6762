/* A libdxcore that lacks most of its entry points. */
int D3DKMTEnumAdapters3(void *arguments);

int D3DKMTEnumAdapters3(void *arguments)
{
    (void)arguments;
    return 0;
}
