import ctypes, struct, time
libc = ctypes.CDLL(None)
class prog(ctypes.Structure):
    _fields_ = [('n', ctypes.c_ushort), ('filter', ctypes.c_char_p)]
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(prog(1, struct.pack('<HBBI', 6, 0, 0, 0x7fff0000)))) == 0
print('filtered', flush=True)
while True:
    time.sleep(0.1)
