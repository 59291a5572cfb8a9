# Varnish 7 with xkey before a gateway with PUBLIC_ANSWERS=on and CACHE_TAGS=Surrogate-Key: keeps responses that are
# public, apart for each key, and drops them by their tags when the gateway posts to PURGE_URL.
vcl 4.1;
import xkey;

backend gateway { .host = "127.0.0.1"; .port = "4000"; }

sub vcl_recv {
  if (req.url == "/purge") {
    # The gateway's PURGE_KEY.
    if (req.method != "POST" || req.http.authorization != "Bearer your-purge-key") { return (synth(403)); }
    set req.http.x-purged = xkey.purge(req.http.surrogate-key);
    return (synth(200));
  }
  # Varnish by itself looks nothing up for requests with a key.
  if (req.method == "GET" && req.http.authorization) { return (hash); }
}

sub vcl_hash { hash_data(req.http.authorization); }

# What is private, or not to be kept, Varnish leaves out by itself.
sub vcl_backend_response { set beresp.http.xkey = beresp.http.surrogate-key; }

sub vcl_deliver {
  unset resp.http.xkey;
  if (obj.hits > 0) { set resp.http.x-cache = "HIT"; } else { set resp.http.x-cache = "MISS"; }
}
