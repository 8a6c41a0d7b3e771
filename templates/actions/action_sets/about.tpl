<section class="empty">
<h2>No action set yet</h2>
<p>An action set switches flags by itself: an alert fires, its signal arrives, and a moment later the flag is off.</p>
<ol>
<li>A <a href="{{url('/admin/signals')}}">signal endpoint</a> receives what monitoring, builds or other systems report.</li>
<li>The set's filters say which of those signals matter.</li>
<li>Its actions switch flags, in the name of a <a href="{{url('/admin/users')}}#service-accounts">service account</a>.</li>
</ol>
<p>It can be tried before it is needed: with a dry run, against signals that were received, or with a test signal. Every run is kept and can be undone. From an alert to a flag in five minutes: docs/actions.md of the documentation; for programs there is the <a href="{{url('/docs')}}">API</a>.</p>
</section>
