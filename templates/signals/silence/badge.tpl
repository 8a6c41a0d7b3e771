% if silence:
 <span class="badge {{'wrong' if silence['state'] == 'down' else ''}}">{{"waiting for the first signal" if silence["state"] == "new" else silence["state"]}}</span>
% end
