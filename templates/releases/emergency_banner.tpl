% for what, measure, sentence in (("freeze", emergency.frozen, "Releases are frozen"), ("pause", emergency.paused, "Automation is paused")):
% if measure:
<div class="banner" role="status"><span><span aria-hidden="true">‖</span> {{sentence}} by <bdi>{{measure.by}}</bdi>: “<bdi>{{measure.reason}}</bdi>”.\\
% if measure.endsAt:
 Ends
% include("partials/time.tpl", at=measure.endsAt)
.\\
% end
</span>
% if identity.has_permission("ADMIN"):
<a class="button quiet" href="{{url('/admin/emergency/end')}}?what={{what}}" data-dialog>End it …<span class="hidden"> ({{what}})</span></a>
% end
</div>
% end
% end
