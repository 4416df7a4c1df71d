/// The page's script. Users' texts become text nodes only.
///
/// Without a ticket it reads every five seconds. With a ticket from the app, in the part of the address after `#`, it
/// opens a WebSocket to write, and messages arrive at once.
enum PageScript {
    static let text = #"""
        "use strict";
        const at = id => document.getElementById(id);
        const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
        const isID = text => /^[0-9A-Fa-f-]{36}$/.test(text);
        let shown = null, socket = null, me = null, ended = false;

        async function get(path) {
            const answer = await fetch(path);
            if (!answer.ok) throw new Error(answer.status);
            return answer.json();
        }
        function say(text, isBad = false) {
            at("status").textContent = text;
            at("status").classList.toggle("bad", isBad);
        }
        function element(name, members = {}, ...children) {
            const made = Object.assign(document.createElement(name), members);
            made.append(...children);
            return made;
        }
        function avatar(user, size) {
            const src = "/avatar?user=" + encodeURIComponent(user);
            return element("img", { src, alt: "", width: size, height: size });
        }
        function time(at) {
            const date = new Date(at);
            return element("time", { dateTime: date.toISOString() }, times.format(date));
        }

        // A list that grows at both ends, by the numbers of its rows.
        function list(path, button, empty, place, row) {
            const known = new Set();
            let newest = 0, oldest = Infinity;
            function add(one, isNew) {
                newest = Math.max(newest, one.number);
                oldest = Math.min(oldest, one.number);
                if (!known.has(one.id)) place(row(one), isNew);
                known.add(one.id);
                empty.hidden = true;
            }
            async function older() {
                const found = await get(path + (oldest < Infinity ? `?lessThan=${oldest}` : ""));
                for (const one of found) add(one, false);
                button.hidden = found.length < 100;
                empty.hidden = known.size > 0;
            }
            async function newer() {
                const found = await get(`${path}?greaterThan=${newest}`);
                for (const one of found.reverse()) add(one, true);
            }
            button.onclick = () => older().catch(() => say("The forum cannot be reached.", true));
            return { older, newer, add };
        }
        function forumRow(forum) {
            const by = element("span", { className: "by" }, avatar(forum.createdBy, 20),
                element("span", {}, forum.createdBy), time(forum.createdTime));
            return element("li", {}, element("a", { href: "#" + forum.id },
                element("img", { src: `/forum/${forum.id}/image`, alt: "", width: 48, height: 48 }),
                element("span", {}, element("strong", {}, forum.title),
                    element("span", { className: "about" }, forum.description), by)));
        }
        function messageRow(message) {
            const text = element("div", { className: "text" });
            if (message.link) {
                const link = element("a", {
                    href: message.link, rel: "noopener noreferrer nofollow ugc", target: "_blank" }, message.link);
                if (!message.link.toLowerCase().startsWith("https:")) {
                    link.onclick = () => confirm("This link is not encrypted. Others may read it too. Open it?");
                }
                text.append(link);
            } else {
                text.append(message.text);
            }
            const head = element("div", { className: "head" }, element("b", {}, message.createdBy),
                time(message.createdTime));
            const item = element("li", {}, avatar(message.createdBy, 36), element("div", {}, head, text));
            item.dataset.user = message.createdBy;
            item.classList.toggle("own", message.createdBy === me);
            return item;
        }
        const forums = list("/forum", at("older-forums"), at("no-forums"),
            (row, isNew) => isNew ? at("forums").prepend(row) : at("forums").append(row), forumRow);

        function showOnline(names) {
            at("online").replaceChildren(...names.map(name => element("li", {}, avatar(name, 24), name)));
            if (!names.length) at("online").append(element("li", { className: "quiet" }, "No member is on line."));
        }
        function place(own, row, isNew) {
            if (shown !== own) return;
            const isAtEnd = innerHeight + scrollY > document.body.scrollHeight - 120;
            if (isNew) at("messages").append(row); else at("messages").prepend(row);
            if (isNew && (isAtEnd || row.classList.contains("own"))) toEnd();
        }
        function toEnd() { scrollTo({ top: document.body.scrollHeight, behavior: "instant" }); }
        async function open() {
            const ticket = location.hash.match(/^#ticket=([0-9a-f]{64})$/);
            if (ticket) {
                // The address must not keep the ticket.
                history.replaceState(null, "", location.pathname + (shown ? "#" + shown.id : ""));
                sessionStorage.setItem("ticket", ticket[1]);
                ended = false;
                if (!shown) await exchange();
            }
            const id = location.hash.slice(1);
            if (id === "messages") return history.replaceState(null, "", shown ? "#" + shown.id : location.pathname);
            for (const link of document.querySelectorAll("#forums a")) {
                if (link.hash === location.hash) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            const isFromList = document.activeElement?.closest("#forums"), before = shown;
            document.body.classList.toggle("reading", isID(id));
            at("forum").hidden = !isID(id);
            at("hint").hidden = isID(id);
            socket?.close();
            if (!isID(id)) {
                shown = null;
                document.title = "Forum";
                // The keyboard continues where it left the list.
                if (before) document.querySelector(`#forums a[href="#${before.id}"]`)?.focus();
                return;
            }
            const own = shown = { id };
            const found = await get("/forum/" + id);
            if (shown !== own) return;
            document.title = found.forum.title + " · Forum";
            at("title").textContent = found.forum.title;
            at("description").textContent = found.forum.description;
            at("picture").src = `/forum/${id}/image`;
            const { createdBy, createdTime } = found.forum;
            at("creator").replaceChildren(avatar(createdBy, 24), element("span", {}, "Created by " + createdBy),
                time(createdTime));
            showOnline(found.online);
            at("messages").replaceChildren();
            own.list = list(`/forum/${id}/message`, at("older"), at("no-messages"),
                (row, isNew) => place(own, row, isNew), messageRow);
            await own.list.older();
            if (isFromList) at("title").focus({ preventScroll: true });
            toEnd();
            await connect(own);
        }

        // A ticket is used once, and the answer has the next one.
        async function exchange() {
            const ticket = sessionStorage.getItem("ticket");
            if (!ticket) return null;
            const answer = await fetch("/ticket", {
                method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket }) });
            if (!answer.ok) { signOut("Signed out. Open this page from your app to write."); return null; }
            const granted = await answer.json();
            sessionStorage.setItem("ticket", granted.ticket);
            me = granted.user;
            at("me").hidden = false;
            at("my-avatar").src = "/avatar?user=" + encodeURIComponent(me);
            at("my-name").textContent = me;
            markOwn();
            return granted.socket;
        }
        function markOwn() {
            for (const row of document.querySelectorAll("#messages li")) {
                row.classList.toggle("own", row.dataset.user === me);
            }
        }
        function signOut(reason) {
            sessionStorage.removeItem("ticket");
            ended = true;
            me = null;
            at("me").hidden = at("composer").hidden = true;
            at("read-only").hidden = false;
            markOwn();
            say(reason);
        }
        async function connect(own) {
            const ticket = await exchange();
            if (!ticket || shown !== own) return;
            const scheme = location.protocol === "https:" ? "wss:" : "ws:";
            const made = socket = new WebSocket(`${scheme}//${location.host}/live/${own.id}?ticket=${ticket}`);
            const online = new Set();
            made.onmessage = event => {
                const data = JSON.parse(event.data);
                if (shown !== own) return;
                if (data.type === "welcome") {
                    for (const name of data.online) online.add(name);
                    at("composer").hidden = false;
                    at("read-only").hidden = true;
                    own.list.newer();
                    say("Live");
                } else if (data.type === "message") {
                    own.list.add(data.message, true);
                } else if (data.type === "online") {
                    if (data.online) online.add(data.user); else online.delete(data.user);
                } else {
                    say(data.message, true);
                }
                showOnline([...online].sort());
            };
            made.onclose = event => {
                if (socket === made) socket = null;
                if (event.code === 1008) return signOut("Signed out. Open this page from your app to write.");
                if (shown !== own || ended) return;
                at("composer").hidden = true;
                say("The connection broke. It is opened again.", true);
                setTimeout(() => {
                    if (shown === own && !socket) connect(own).catch(() => made.onclose(event));
                }, 3000);
            };
        }
        function send() {
            const text = at("text").value.trim();
            if (!text || socket?.readyState !== WebSocket.OPEN) return;
            const kind = /^https?:\/\/\S+$/i.test(text) ? "link" : "text";
            socket.send(JSON.stringify({ id: crypto.randomUUID(), [kind]: text }));
            at("text").value = "";
        }
        at("composer").onsubmit = event => { event.preventDefault(); send(); };
        at("text").onkeydown = event => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
        };
        at("skip").onclick = event => { event.preventDefault(); at(shown ? "messages" : "main").focus(); };
        at("leave").onclick = () => {
            const ticket = sessionStorage.getItem("ticket");
            signOut("Signed out.");
            socket?.close();
            fetch("/ticket", {
                method: "DELETE", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket }) });
        };

        async function refresh() {
            try {
                await forums.newer();
                if (shown?.list && !socket) {
                    const own = shown;
                    const found = await get("/forum/" + own.id);
                    if (shown === own) { showOnline(found.online); await own.list.newer(); }
                }
                if (at("status").classList.contains("bad") && !socket) say("");
            } catch {
                say("The forum cannot be reached. It is tried again.", true);
            }
            setTimeout(refresh, 5000);
        }
        const begin = () => open().catch(error => say(
            error.message === "404" ? "This forum does not exist." : "The forum cannot be reached.", true));
        addEventListener("hashchange", begin);
        (async () => {
            await forums.older().catch(() => say("The forum cannot be reached. It is tried again.", true));
            await begin();
            setTimeout(refresh, 5000);
        })();
        """#
}
