import Domain
import Encoding
import Fixtures
import Tokens

extension KnownIssuer {
    /// Issuers that an organization runs.
    static let selfHosted = [
        KnownIssuer(
            name: "Keycloak", url: "https://sso.acme.example/realms/acme",
            source: "github.com/keycloak/keycloak/blob/main/core/src/main/java/org/keycloak/representations/"
                + "IDToken.java",
            audience: "app", kid: "FJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE",
            claims: #"""
                {"azp":"app","sub":"f8c3de3d-1fea-4d7c-a8b0-29f63c4c3454","typ":"ID","jti":"x","acr":"1","sid":"y",
                "auth_time":1700000000,"at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q","preferred_username":"anna",
                "name":"Anna Sampler","email_verified":true}
                """#, lifetime: 300,
            // Its access token.
            planted: Planted(.wrongAudience, "aud does not name") {
                $0[claim: "aud"] = texts("realm-management", "account")
            }),
        // The project's id is an audience too.
        KnownIssuer(
            name: "ZITADEL", url: "https://acme.zitadel.cloud", source: "zitadel.com/docs/apis/openidoauth/claims",
            audience: "170086824411201793@portal", header: "{}",
            claims: #"""
                {"aud":["170086824411201793@portal","170086363054473473"],"azp":"170086824411201793@portal",
                "sub":"170086774599581953","client_id":"170086824411201793@portal","amr":["password","pwd"],
                "auth_time":1700000000,"at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q",
                "urn:zitadel:iam:org:project:roles":{"admin":{"1700863":"acme.zitadel.cloud"}},"name":"Anna Sampler"}
                """#,
            planted: Planted(.wrongAudience, "azp does not say") { $0[claim: "azp"] = nil }),
        KnownIssuer(
            name: "Ory", url: "https://acme.projects.oryapis.com",
            source: "github.com/ory/sdk/blob/master/clients/client/java/docs/IDTokenClaims.md",
            audience: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", kid: "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb",
            claims: #"""
                {"aud":["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"],"sub":"cccccccc-cccc-4ccc-8ccc-cccccccccccc",
                "rat":1700000000,"ext":{"tenant":"acme"},
                "auth_time":1700000000,"at_hash":"x","jti":"y","sid":"z","acr":"0","amr":[]}
                """#,
            planted: Planted(.wrongAudience, "aud does not name") { $0[claim: "aud"] = .array([]) }),
        // azp and uid are in its access token alone, which has the same audience.
        KnownIssuer(
            name: "Authentik", url: "https://auth.acme.example/application/o/app/",
            source: "github.com/goauthentik/authentik/blob/main/authentik/providers/oauth2/id_token.py",
            audience: "AuthentikClient", kid: "b2a4c6",
            claims: #"""
                {"sub":"5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b5c5a5b",
                "acr":"goauthentik.io/providers/oauth2/default","amr":["pwd"],"auth_time":1700000000,
                "sid":"6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b6c6a6b",
                "groups":["authentik Admins"],"name":"Anna Sampler","picture":"data:image/svg+xml;base64,PHN2Zz4="}
                """#, ignored: ["picture"],
            // What it signs with the client secret if no key was chosen.
            planted: Planted(.algorithmMismatch, "alg is not RS256") { $0[header: "alg"] = .string("HS256") }),
        KnownIssuer(
            name: "GitLab", url: "https://gitlab.acme.example",
            source: "docs.gitlab.com/integration/openid_connect_provider", audience: "gitlab-client",
            kid: "kewiQq9jiC84CvSsJYOB-N6A8WFLSV20Mb-y7IlWDSQ",
            claims: #"""
                {"sub":"42","name":"Anna Sampler","nickname":"anna","preferred_username":"anna",
                "groups_direct":["acme/backend"],"auth_time":1700000000,"picture":null,"email_verified":true}
                """#, lifetime: 120, ignored: ["picture"],
            planted: Planted(.malformed, "sub is not a string") { $0[claim: "sub"] = .integer(42) }),
        // unique_name is always there, and pwd_exp counts the seconds until the password expires.
        KnownIssuer(
            name: "ADFS", url: "https://adfs.acme.example/adfs",
            source: "learn.microsoft.com/openspecs/windows_protocols/ms-oidce/55c0a84d-48e7-4043-91f8-9ebd0a51ab68",
            audience: "dddddddd-dddd-4ddd-8ddd-dddddddddddd",
            kid: "EKl8gpMVI4", header: #"{"typ":"JWT","x5t":"EKl8gpMVI4"}"#,
            claims: #"""
                {"sub":"RWwnHTr1d/Xb8y2mZ+p3","upn":"anna@acme.example","unique_name":"ACME\\anna","sid":"S-1-5-21-1",
                "auth_time":1700000000,"pwd_exp":1209600,"pwd_url":"https://adfs.acme.example/adfs/portal/updatepassword/"}
                """#,
            planted: Planted(.notYetValid, "nbf is") { $0[claim: "nbf"] = $0.plus(3600) }),
    ]
}
