<section class="empty">
<h2>No action sets yet</h2>
<p>Turn a flag off within milliseconds of an alert – and back on when it resolves.</p>
<ol>
<li>A <a href="{{url('/admin/signals')}}">signal endpoint</a> receives webhooks from monitoring, CI or other systems.</li>
<li>The filters of the set select the signals that matter.</li>
<li>Its actions change flags as a <a href="{{url('/admin/service-accounts')}}">service account</a>.</li>
</ol>
<p>Test a set with a dry run, a received signal or a test signal. Every run is recorded and can be undone. <a href="{{url('/docs/guide/actions')}}">Guide to actions</a> · <a href="{{url('/docs')}}">API</a></p>
</section>
