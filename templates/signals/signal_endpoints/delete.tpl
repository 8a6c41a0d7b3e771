% rebase("layout.tpl", title=title, live=False)
<h1>Delete {{endpoint["name"]}}?</h1>
<p>This goes with it, for good:</p>
<ul>
<li>the URL that senders call: it answers 401 from then on;</li>
<li>{{plural(len(tokens), "token")}}{{":" if tokens else ";"}}
% for token in tokens:
<bdi>{{token["name"]}}</bdi>{{";" if token is tokens[-1] else ","}}
% end
</li>
<li>{{count}} {{"signal" if count == "1" else "signals"}} received.</li>
</ul>
% if triggered_sets:
<p>These action sets depend on it, and will never run again until they listen to another endpoint:</p>
% include("actions/action_sets/triggered_sets.tpl")
% end
<p>To stop receiving and keep what there is, disable the endpoint instead.</p>
<form method="post" action="{{url('/admin/signals/%d/delete' % endpoint['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete signal endpoint</button>
<a href="{{url('/admin/signals')}}">Cancel</a>
</form>
