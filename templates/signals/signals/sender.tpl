% if signal["sent_by"]:
<span class="badge">sent by <bdi>{{signal["sent_by"]}}</bdi></span>
% else:
<span class="badge"><bdi>{{signal["token_name"] or "(deleted token)"}}</bdi></span>
% end
