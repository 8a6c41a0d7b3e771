% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Signal endpoints</h1>
% if not limit_text:
<a class="button" href="{{url('/admin/signals/new')}}">New signal endpoint</a>
% end
</div>
<p class="hint">{{len(endpoints)}} of {{limit}} endpoints. Receive webhooks from external systems. {{limit_text}}</p>
% if not endpoints:
<section class="empty">
<h2>No signal endpoints yet</h2>
<p>Create an endpoint with a token. Its page shows how to configure the sender, and sends samples.</p>
</section>
% else:
% include("partials/table.tpl")
% end
<p><a href="{{url('/admin/signals/refused')}}">Refused calls of unknown endpoints</a></p>
