% rebase("layout.tpl", title=title, live=False)
<h1>Delete {{endpoint["name"]}}?</h1>
<p>This permanently deletes:</p>
<ul>
<li>the webhook URL; senders will get 401</li>
<li>{{plural(len(tokens), "token")}}
% if tokens:
<ul class="names">
% for token in tokens:
<li><bdi>{{token["name"]}}</bdi></li>
% end
</ul>
% end
</li>
<li>{{signal_count}}</li>
</ul>
% if triggered_sets:
<p>These action sets are triggered by it and won't run again until you choose another endpoint:</p>
% include("actions/action_sets/triggered_sets.tpl")
% end
<p>To stop receiving signals but keep the existing ones, disable the endpoint instead.</p>
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete signal endpoint</button>
<a href="{{url('/admin/signals')}}">Cancel</a>
</form>
