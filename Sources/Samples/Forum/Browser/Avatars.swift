import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The pictures of users: one that the user chose, or the initials of the name.
struct Avatars: Sendable {
    let store: ForumStore
    let images: ForumImage.Source
    private let changes = Limiter(20, per: 3600)

    init(store: ForumStore, images: ForumImage.Source) { (self.store, self.images) = (store, images) }

    /// `GET avatar?user=NAME`, for everyone. An unknown name has initials too, so the answer does not reveal who is a
    /// user.
    func picture(_ request: Request) async throws -> Response {
        guard let user = request.uri.queryParameters["user"].map(String.init), (1...256).contains(user.utf8.count)
        else {
            throw HTTPError(.badRequest, message: "user is missing or too long")
        }
        // A picture must not run scripts, even if it is opened as a page.
        var headers = HTTPFields()
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        headers[.cacheControl] = "private, max-age=300"
        guard let (data, type) = try await store.avatar(of: user) else {
            return .of(Data(Self.initials(of: user).utf8), type: "image/svg+xml", headers)
        }
        return .of(data, type: type, headers)
    }

    /// `PUT avatar {"imageURL"}` of the caller → `204`; `400` if the picture cannot be fetched. Without a URL the
    /// initials are shown again.
    func change(_ request: Request, _ context: SampleContext, of user: String) async throws -> Response {
        struct Fields: Decodable { let imageURL: String? }
        let fields = try await request.decode(as: Fields.self, context: context)
        try await changes.count(user)
        try await store.setAvatar(try await images.fetch(fields.imageURL), of: user)
        return Response(status: .noContent)
    }

    /// The first letters of the first two words of a name, on a colour of its digest.
    static func initials(of user: String) -> String {
        let words = user.prefix { $0 != "@" }.split { !$0.isLetter && !$0.isNumber }
        // Only letters and digits of the name reach the picture, so it needs no escaping.
        let letters = words.prefix(2).compactMap(\.first).map { $0.uppercased() }.joined()
        let hue = Array(SHA256.hash(data: Data(user.utf8))).first.map { Int($0) * 360 / 256 } ?? 0
        let text =
            #"x="20" y="20" dy=".36em" text-anchor="middle" fill="white" font-family="sans-serif" font-size="17""#
        return #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" "#
            + #"fill="hsl(\#(hue) 45% 38%)"/><text \#(text)>\#(letters.isEmpty ? "?" : letters)</text></svg>"#
    }
}
