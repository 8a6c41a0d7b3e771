% rebase("layout.tpl", title=title, live=False)
<h1>Home</h1>
% if features:
<p><a href="{{url('/admin/features')}}">{{plural(features, "feature flag")}}</a></p>
% else:
<section class="empty">
<h2>Create your first feature flag</h2>
<p>Turn features on or off at runtime – per environment, user or percentage – without deploying.</p>
% if identity.has_permission("EDIT"):
<p><a class="button" href="{{url('/admin/features/new')}}">Create flag</a></p>
% else:
<p>Ask an editor to create one.</p>
% end
</section>
% end
% if not endpoints:
<section class="empty">
<h2>Receive your first signal</h2>
<p>Receive webhooks from monitoring and CI. Create an endpoint, give its token to the sender, and watch signals arrive.</p>
% if identity.has_permission("ADMIN"):
<p><a class="button" href="{{url('/admin/signals/new')}}">Create signal endpoint</a></p>
% else:
<p>Ask an admin to create one.</p>
% end
</section>
% elif identity.has_permission("ADMIN"):
<section>
<h2>Recent signals</h2>
% if not signals:
<p class="empty">No signals yet.</p>
% else:
<ul class="rows">
% for signal in signals:
<li>
% include("partials/time.tpl", at=signal["created_at"])
<a href="{{url('/admin/signals', signal['endpoint_id'], 'log')}}">{{signal["endpoint_name"]}}</a>
<span class="badge"><bdi>{{signal["token_name"] or "(deleted token)"}}</bdi></span>
% include("signals/signals/summary.tpl", summary=signal["summary"])
</li>
% end
</ul>
% end
<p><a href="{{url('/admin/signals')}}">{{plural(len(endpoints), "signal endpoint")}}</a></p>
</section>
% end
