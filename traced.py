import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0
print('traced', flush=True)
time.sleep(60)
