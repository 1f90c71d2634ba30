"""Caching proxies that are compared with.

Each is a process of the benchmark's own, in the foreground, on a free port, with a configuration and folders that are
thrown away.
"""
import os, pwd, shutil, signal, subprocess, tempfile
from measuring import cpu_of
from origin import answers, free_port


class Proxy:
    """A running proxy. Subclasses write its configuration into `folder` and give the command that starts it."""

    def __init__(self, shm):
        # A proxy started by root becomes another user, who must get at its files.
        self.folder = tempfile.mkdtemp(prefix="trawl-bench-", dir=os.path.dirname(shm))
        os.chmod(self.folder, 0o755)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if not answers(self.process, "127.0.0.1", self.port):
            with open(f"{self.folder}/log", errors="replace") as log:
                text = log.read()[-1000:]
            self.close()
            raise SystemExit(f"{type(self).__name__} did not start: {text}")

    def cpu(self):
        return cpu_of(self.process.pid)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Squid(Proxy):
    """squid, all of its cache in memory."""

    def command(self):
        user = pwd.getpwuid(os.geteuid()).pw_name
        if user == "root":
            user = "proxy"
            shutil.chown(self.folder, user, user)
        with open(f"{self.folder}/squid.conf", "w") as file:
            file.write(f"""
http_port {self.address}
acl loopback src 127.0.0.0/8
http_access allow loopback
cache_effective_user {user}
cache_mem 1024 MB
maximum_object_size_in_memory 64 KB
memory_replacement_policy lru
pid_filename {self.folder}/pid
coredump_dir {self.folder}
cache_log {self.folder}/cache.log
access_log none
cache_store_log none
max_filedescriptors 4096
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname benchmark
via off
forwarded_for delete
""")
        return ["squid", "-N", "-f", f"{self.folder}/squid.conf"]


class Nginx(Proxy):
    """nginx with proxy_cache, its files in memory."""

    def command(self):
        user = "user root;" if os.geteuid() == 0 else ""
        folder = self.folder
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(f"""{user} daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  proxy_cache_path {folder}/cache levels=2:2 keys_zone=all:64m max_size=8g inactive=1h use_temp_path=off;
  server {{ listen {self.address} backlog=4096;
    location / {{ proxy_pass http://$http_host$request_uri; proxy_cache all;
      proxy_cache_key $http_host$request_uri; }} }} }}
""")
        return ["nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"]
