% if silence:
 <span class="badge {{ {'down': 'wrong', 'late': 'warn'}.get(silence['state'], '') }}">{{"waiting for the first signal" if silence["state"] == "new" else silence["state"]}}</span>
% end
