% if not section.rows:
<p class="empty">No guards: the release goes on whenever the time of a step is over.</p>
% end
% if values:
<p class="actions"><span class="muted">Add:</span>
% for kind, label in values:
<button class="quiet" name="do" value="add-guard:{{kind}}" formaction="{{action}}#guards.{{len(section.rows)}}" formnovalidate data-swap="editor">{{label}}<span class="hidden"> as a guard</span></button>
% end
</p>
% end
