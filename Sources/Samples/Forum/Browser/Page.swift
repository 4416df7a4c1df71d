import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The page on the plain listener, with forums and messages for everyone. A ticket of the app lets a browser write.
///
/// Users' texts become text nodes only, and the policy permits only the page's own script.
struct Page: Sendable {
    let board: Board
    let avatars: Avatars

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    func router() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        let files = [("", "text/html", PageFiles.html), ("forum.js", "text/javascript", PageScript.text)]
        for (path, type, text) in files + [("forum.css", "text/css", PageFiles.style)] {
            router.get(RouterPath(path)) { _, _ in
                var headers = HTTPFields()
                headers[.contentSecurityPolicy] = Self.policy
                // The address of the page must not reach the servers of links.
                headers[.referrerPolicy] = "no-referrer"
                return Response.of(Data(text.utf8), type: "\(type); charset=utf-8", headers)
            }
        }
        router.get("avatar") { request, _ in try await avatars.picture(request) }
        router.get("forum") { request, _ in try await board.forums(request) }
        router.get("forum/:id") { _, context in try await board.forum(try context.uuid("id")) }
        router.get("forum/:id/image") { _, context in try await board.image(of: try context.uuid("id")) }
        router.get("forum/:id/message") { request, context in
            try await board.messages(request, of: try context.uuid("id"))
        }
        return router
    }
}

private extension HTTPField.Name {
    static let referrerPolicy = Self("Referrer-Policy") ?? .contentType
}
