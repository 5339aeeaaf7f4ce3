import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect } from "react";
import { ApiError } from "../api/client";
import { queryClient, useSession } from "../api/queries";
import { LiveProvider } from "../api/stream";
import { useWords } from "../i18n";
import { Dashboard } from "../pages/Dashboard";
import { Login } from "../pages/Login";
import { Nodes } from "../pages/Nodes";
import { Settings } from "../pages/Settings";
import { Tasks } from "../pages/Tasks";
import { Patterns } from "../ui/Sparkline";
import { Empty, ErrorBox, Guard, Skeleton } from "../ui/States";
import { PrefsProvider } from "./prefs";
import { hrefTo, Link, navigate, usePath } from "./router";
import { Shell } from "./Shell";

// The curves' library is loaded with the first page that draws them.
const NodeMonitor = lazy(() => import("../pages/NodeMonitor").then((m) => ({ default: m.NodeMonitor })));
const Carbon = lazy(() => import("../pages/Carbon").then((m) => ({ default: m.Carbon })));
const Reports = lazy(() => import("../pages/Reports").then((m) => ({ default: m.Reports })));
const Teams = lazy(() => import("../pages/Teams").then((m) => ({ default: m.Teams })));
const TaskDetail = lazy(() => import("../pages/TaskDetail").then((m) => ({ default: m.TaskDetail })));

function Page(): JSX.Element {
  const { t } = useWords();
  const path = usePath();
  const [, first = "", second = ""] = path.split("/");
  const id = decodeURIComponent(second);
  if (first === "") return <Dashboard />;
  if (first === "nodes") return id === "" ? <Nodes /> : <NodeMonitor key={id} id={id} />;
  if (first === "tasks") return id === "" ? <Tasks /> : <TaskDetail key={id} id={id} />;
  if (first === "carbon") return <Carbon />;
  if (first === "teams") return <Teams />;
  if (first === "reports") return <Reports />;
  if (first === "settings") return <Settings />;
  return <Empty>{t("state.not_found")} <Link to={hrefTo("/")}>{t("nav.dashboard")}</Link></Empty>;
}

function SignedIn(): JSX.Element {
  const { t } = useWords();
  const path = usePath();
  const session = useSession();
  const gone = session.error instanceof ApiError && session.error.status === 401;
  useEffect(() => {
    if (gone) navigate(`/login-page?next=${encodeURIComponent(window.location.pathname + window.location.search)}`, true);
  }, [gone]);
  if (session.isPending || gone) return <div className="boot"><Skeleton lines={8} /></div>;
  if (session.isError) return <div className="boot"><ErrorBox error={session.error} what={t("what.session")} retry={() => void session.refetch()} /></div>;
  return (
    <LiveProvider>
      <Shell session={session.data}>
        <Guard resetKey={path}>
          <Suspense fallback={<Skeleton lines={8} />}><Page /></Suspense>
        </Guard>
      </Shell>
    </LiveProvider>
  );
}

function Root(): JSX.Element {
  const path = usePath();
  return path === "/login-page" ? <Login /> : <SignedIn />;
}

/** A session that ends while the page is open leads to the sign-in page, and back. */
queryClient.getQueryCache().subscribe((event) => {
  const error = event.type === "updated" && event.action.type === "error" ? event.action.error : null;
  if (error instanceof ApiError && error.status === 401 && event.query.queryKey[0] !== "session") void queryClient.invalidateQueries({ queryKey: ["session"] });
});

export function App(): JSX.Element {
  return (
    <QueryClientProvider client={queryClient}>
      <PrefsProvider>
        <Patterns />
        <Root />
      </PrefsProvider>
    </QueryClientProvider>
  );
}
