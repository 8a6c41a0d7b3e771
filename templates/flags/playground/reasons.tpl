<p>{{flag.why}}</p>
% if flag.is_random:
<p class="hint">Random stickiness: results vary per request. With a user ID or session ID, default stickiness is deterministic.</p>
% end
% if flag.payload:
<p>Variant payload:</p>
<pre tabindex="0"><code>{{flag.payload}}</code></pre>
% end
% if flag.strategies:
% include("flags/playground/checks.tpl", checks=flag.strategies)
% end
