import os, sys, time
end = time.time() + float(sys.argv[1])
print('forks', flush=True)
n = 0
while time.time() < end:
    child = os.fork()
    if not child:
        os._exit(7)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 7:
        sys.exit(3)
    n += 1
os.execvp('sh', ['sh', '-c', 'exit 5'])
