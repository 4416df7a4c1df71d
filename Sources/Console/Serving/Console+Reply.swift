import Domain
import Foundation
import HTTPTypes
import Operations

/// A request on its way to its page.
struct Visit: Sendable {
    let id: String
    /// The template of the route, for the log.
    var route: String
    /// `nil` until the certificate was looked up.
    var administrator: Administrator?
}

extension Console {
    func reply(_ answer: ConsoleAnswer, _ visit: Visit) -> Reply {
        switch answer {
        case .page(let page): return reply(page, .ok, visit)
        case .seeOther(let path):
            var fields = PageHeaders.fields
            fields[.location] = path.text
            return (
                HTTPResponse(status: .seeOther, headerFields: fields), [], visit.route, nil, visit.administrator?.id
            )
        case .download(let bytes, let name, let mediaType):
            var fields = PageHeaders.fields
            fields[.contentType] = mediaType.description
            fields[.contentDisposition] = "attachment; filename=\"\(name)\""
            return (HTTPResponse(status: .ok, headerFields: fields), bytes, visit.route, nil, visit.administrator?.id)
        }
    }

    private func reply(
        _ page: Page, _ status: HTTPResponse.Status, _ visit: Visit, _ cause: (any Error)? = nil,
        retryAfter: Int? = nil
    ) -> Reply {
        var fields = PageHeaders.fields
        fields[.contentType] = "text/html; charset=utf-8"
        fields[.retryAfter] = retryAfter.map(String.init)
        // A certificate that is not valid now may be renewed: the browser then needs a new connection.
        if visit.administrator == nil { fields[.connection] = "close" }
        return (
            HTTPResponse(status: status, headerFields: fields), page.document(in: frame(visit)).bytes, visit.route,
            cause, visit.administrator?.id
        )
    }

    /// The page of an error. Only a refusal has a sentence for its reader: the cause of a failure is in the log.
    func refusal(_ error: any Error, _ visit: Visit) -> Reply {
        guard let refusal = error as? Refusal else {
            let page = Self.page(
                "The service failed",
                "It is not known if anything was changed. The log has the cause under the id below.", visit)
            return reply(page, .internalServerError, visit, error)
        }
        let status = status(refusal.code)
        return reply(
            Self.page(Self.title(status), refusal.detail, visit), status, visit, refusal,
            retryAfter: refusal.retryAfter)
    }

    /// The page for a method that the path does not have.
    func methodRefused(_ visit: Visit) -> Reply {
        var reply = reply(
            Self.page("Not possible here", "This address cannot be used so. Nothing was changed.", visit),
            .methodNotAllowed, visit)
        reply.head.headerFields[.allow] = "GET, HEAD, POST"
        return reply
    }

    private static func page(_ title: String, _ sentence: String, _ visit: Visit) -> Page {
        let start: Markup = visit.administrator == nil ? .empty : "\n<p><a href=\"/\">Start page</a></p>"
        return Page(title, content: "<p>\(sentence)</p>\(start)")
    }

    private static func title(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .notFound: "Not found"
        case .forbidden, .unauthorized: "Not permitted"
        case .conflict, .gone: "Not possible now"
        case .tooManyRequests: "Too many requests"
        case .serviceUnavailable: "No answer in time"
        default: "Not accepted"
        }
    }

    private func frame(_ visit: Visit) -> Page.Frame {
        let role = visit.administrator?.role
        return Page.Frame(
            administrator: visit.administrator?.name, role: role?.rawValue, node: parts.node, requestID: visit.id,
            staleness: Int(min(max(0, parts.service.invalidator.age), 86_400) * 10),
            navigation: role.map(ConsoleRoutes.navigation) ?? [])
    }
}
