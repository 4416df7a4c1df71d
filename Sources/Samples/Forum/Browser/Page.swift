import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The read-only page on the plain listener, with forums and messages for everyone.
///
/// Users' texts become text nodes only, and the policy permits only the page's own script.
struct Page: Sendable {
    let board: Board

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    func router() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        let files = [("", "text/html", Self.html), ("forum.js", "text/javascript", Self.script)]
        for (path, type, text) in files + [("forum.css", "text/css", Self.style)] {
            router.get(RouterPath(path)) { _, _ in
                var headers = HTTPFields()
                headers[.contentSecurityPolicy] = Self.policy
                return Response.of(Data(text.utf8), type: "\(type); charset=utf-8", headers)
            }
        }
        router.get("forum") { request, _ in try await board.forums(request) }
        router.get("forum/:id") { _, context in try await board.forum(try context.uuid("id")) }
        router.get("forum/:id/image") { _, context in try await board.image(of: try context.uuid("id")) }
        router.get("forum/:id/message") { request, context in
            try await board.messages(request, of: try context.uuid("id"))
        }
        return router
    }

    private static let html = """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><title>Forum</title>
        <meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/forum.css"></head>
        <body><h1>Forum</h1>
        <nav><ul id="forums"></ul><button id="older-forums" hidden>Older</button></nav>
        <main hidden><h2 id="title"></h2><p id="online"></p><button id="older" hidden>Older</button>
        <ol id="messages"></ol></main>
        <script src="/forum.js"></script></body></html>
        """

    private static let style = """
        body { font: 1rem/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem; padding: 0 1rem }
        #forums { list-style: none; padding: 0 } #forums img { width: 2rem; height: 2rem; vertical-align: middle }
        #forums a { display: block; padding: .3rem } #messages { list-style: none; padding: 0 }
        #messages li { border-top: 1px solid #ccc; padding: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere }
        #messages b { margin-right: .6rem }
        """

    /// Shows the newest 100 forums, older ones by the button, and newer ones every five seconds. A forum, opened by `#`
    /// and its id, shows its messages likewise.
    private static let script = """
        "use strict";
        const at = id => document.getElementById(id), get = async path => (await fetch(path)).json();
        function element(name, text, members = {}) {
            const made = Object.assign(document.createElement(name), members);
            made.textContent = text;
            return made;
        }
        function list(place, button, path, row) {
            let newest = 0, oldest = 0;
            async function older() {
                const found = await get(path + (oldest ? `?lessThan=${oldest}` : ""));
                for (const one of found) place(row(one), false);
                if (found.length) { oldest = found.at(-1).number; newest = Math.max(newest, found[0].number); }
                button.hidden = found.length < 100;
            }
            async function newer() {
                const found = await get(`${path}?greaterThan=${newest}`);
                for (const one of found.reverse()) { place(row(one), true); newest = one.number; oldest ||= one.number; }
            }
            button.onclick = older;
            return { older, newer };
        }
        function forumRow(forum) {
            const link = element("a", " " + forum.title, { href: "#" + forum.id, title: forum.description });
            link.prepend(element("img", "", { src: `/forum/${forum.id}/image`, alt: "" }));
            const item = element("li", "");
            item.append(link);
            return item;
        }
        function messageRow(message) {
            const item = element("li", "");
            item.append(element("b", message.createdBy));
            item.append(message.link ? element("a", message.link, {
                href: message.link, rel: "noopener noreferrer nofollow ugc", target: "_blank" })
                : document.createTextNode(message.text));
            return item;
        }
        let shown = null;
        async function open() {
            const id = location.hash.slice(1);
            if (!/^[0-9A-Fa-f-]{36}$/.test(id)) return;
            const found = await get("/forum/" + id), own = {};
            shown = own;
            document.querySelector("main").hidden = false;
            at("title").textContent = found.forum.title;
            at("messages").replaceChildren();
            own.list = list((row, isNew) => shown === own && (isNew ? at("messages").append(row)
                : at("messages").prepend(row)), at("older"), `/forum/${id}/message`, messageRow);
            own.online = async () => {
                const names = (await get("/forum/" + id)).online;
                at("online").textContent = names.length ? "On line: " + names.join(", ") : "No member is on line.";
            };
            await own.online();
            await own.list.older();
        }
        const forums = list((row, isNew) => isNew ? at("forums").prepend(row) : at("forums").append(row),
            at("older-forums"), "/forum", forumRow);
        async function refresh() {
            try {
                await forums.newer();
                if (shown) { await shown.online(); await shown.list.newer(); }
            } catch { /* the next one comes in five seconds */ }
            setTimeout(refresh, 5000);
        }
        addEventListener("hashchange", open);
        (async () => { await forums.older(); await open(); setTimeout(refresh, 5000); })();
        """
}
