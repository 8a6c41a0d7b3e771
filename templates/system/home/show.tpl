% rebase("layout.tpl", title=title, live=False)
<h1>Home</h1>
% if features:
<p><a href="{{url('/admin/features')}}">{{plural(features, "flag")}}</a> {{"decides" if features == 1 else "decide"}} what applications do.</p>
% else:
<section class="empty">
<h2>Make your first flag</h2>
<p>An application asks while it runs: is new-checkout on for this user? Make the flag, switch it on where it is wanted, and change the answer without a deployment.</p>
% if identity.has_permission("EDIT"):
<p><a class="button" href="{{url('/admin/features/new')}}">New flag</a></p>
% else:
<p>An editor can make one.</p>
% end
</section>
% end
% if not endpoints:
<section class="empty">
<h2>Receive your first signal</h2>
<p>External systems report that something happened. Create a signal endpoint, hand its token to a sender, and watch what comes in.</p>
% if identity.has_permission("ADMIN"):
<p><a class="button" href="{{url('/admin/signals/new')}}">New signal endpoint</a></p>
% else:
<p>An admin can create one.</p>
% end
</section>
% elif identity.has_permission("ADMIN"):
<section>
<h2>Latest signals</h2>
% if not signals:
<p class="empty">No signal has come in yet.</p>
% else:
<ul class="rows">
% for signal in signals:
<li>
% include("partials/time.tpl", at=signal["created_at"])
<a href="{{url('/admin/signals/%d/log' % signal['endpoint_id'])}}">{{signal["endpoint_name"]}}</a>
<span class="badge"><bdi>{{signal["token_name"] or "deleted token"}}</bdi></span>
<code class="preview">{{signal["payload"][:100]}}</code>
</li>
% end
</ul>
% end
<p><a href="{{url('/admin/signals')}}">{{plural(len(endpoints), "signal endpoint")}}</a></p>
</section>
% end
