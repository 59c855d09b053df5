import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.prctl(*[int(word) for word in sys.argv[1:]])
print('ready', flush=True)
while True:
    time.sleep(0.1)
